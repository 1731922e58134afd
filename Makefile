# The doors of WakeBridge. `make demo` and `make test` install what they miss, so a fresh Debian 12 or 13 will do.
# Debug builds serve demo, check and test: they are ready several times sooner. Only install and bench build for speed.

PREFIX ?= /usr/local
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/system

# Where toolchains lie that did not put themselves on PATH, or that sudo took off it.
export PATH := $(PATH):/usr/libexec/swift/bin:/opt/swift/usr/bin:$(HOME)/.local/share/swiftly/bin

SOURCES = Package.swift Sources Tests Examples
RELEASE = swift build --configuration release --static-swift-stdlib --scratch-path .build/static

.PHONY: help demo test check bench lab lab-soak lab-recording build install uninstall clean prepare prepare-lab

help: ## tell what can be made
	@echo "WakeBridge. PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

demo: prepare ## play a recorded heart-rate strap to a frozen process, and show it live
	swift build --product wakebridge
	@Scripts/demo.sh

test: prepare prepare-lab ## build everything and run every test
	@Scripts/test.sh

check: prepare ## format and the rules of the architecture
	swift format lint --strict --recursive --parallel $(SOURCES)
	@Scripts/test.sh --filter ArchitectureTests

bench: prepare ## print what a wake costs on this machine; asserts nothing
	@Scripts/bench.sh

lab: prepare prepare-lab ## play the scenarios with a real bluetoothd in a virtual machine; LAB_SCENARIOS="talk" plays some
	@Scripts/test.sh --filter LabTests

lab-soak: prepare prepare-lab ## half an hour of random faults there; LAB_SOAK says how many seconds
	@LAB_SOAK="$${LAB_SOAK:-1800}" LAB_LIMIT=$$(($${LAB_SOAK:-1800} * 2 + 600)) LAB_SCENARIOS=soak Scripts/test.sh --filter LabTests

lab-recording: prepare prepare-lab ## record the shipped heart-rate strap anew there
	@Tests/Lab/record.sh

build: prepare ## daemon and tool for this machine, one file each
	$(RELEASE) --product wakebridged
	$(RELEASE) --product wakebridge

install: build ## to PREFIX (/usr/local), below DESTDIR
	@Scripts/install.sh "$$($(RELEASE) --show-bin-path)" "$(DESTDIR)" "$(PREFIX)" "$(UNITDIR)"

uninstall: ## take away what install put there
	@Scripts/install.sh --remove "$(DESTDIR)" "$(PREFIX)" "$(UNITDIR)"

clean: ## forget everything that was built
	rm -rf .build

prepare:
	@Scripts/prepare.sh

prepare-lab:
	@Scripts/prepare-lab.sh
