"""End-to-end tests: the real daemon and command against the kernel, in network namespaces of their own."""
