"""Network laboratory of the tests: namespaces, links, traffic of known size, kernel truth, and the daemon under test."""
