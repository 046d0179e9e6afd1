"""How far what a traffic counter says is from what the kernel counted, for iftally and its peers."""
