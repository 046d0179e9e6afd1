# The commands of the project; what they do is in scripts/.
PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR

help:
	@echo 'make run        build, start the daemon on this machine, show the live table and the page'
	@echo 'make test       run the tests (as root for those that need the kernel)'
	@echo 'make check      lint, tests and everything that takes longer'
	@echo 'make mutants    break one rule at a time and see that the tests notice each (takes long)'
	@echo 'make lint       look at the source'
	@echo 'make bench      measure the cost of a sample'
	@echo 'make release    build small programs into .build/release; make build: for debugging'
	@echo 'make deb        build the Debian package into .build/deb'
	@echo 'make install    install below PREFIX ($(PREFIX)); make uninstall: remove it again'
	@echo 'make deps       install what the build lacks (Debian packages); make clean: remove .build'

run:
	@scripts/run.sh

build: deps
	@scripts/build.sh

release: deps
	@scripts/release.sh

test:
	@scripts/test.sh

check:
	@scripts/check.sh

mutants:
	@scripts/mutants.sh

lint:
	@scripts/lint.sh

bench: deps
	@scripts/bench.sh

deb:
	@scripts/deps.sh deb
	@scripts/deb.sh

install:
	@scripts/install.sh install

uninstall:
	@scripts/install.sh uninstall

deps:
	@scripts/deps.sh build

clean:
	rm -rf .build

.PHONY: help run build release test check mutants lint bench deb install uninstall deps clean
