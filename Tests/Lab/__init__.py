"""Network laboratory of the tests: namespaces, links, known traffic, kernel truth, and the daemon under test."""
