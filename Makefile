# The doors of WakeBridge. `make demo` and `make test` install what they miss, so a fresh Debian 12 or 13 will do.
# A debug build serves the demo: it is ready several times sooner. In the tests' build only the tests themselves are not optimized.
# What is installed, measured, put to the break test or played in the lab is built for speed.

PREFIX ?= /usr/local
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/system

# Where toolchains lie that did not put themselves on PATH, or that sudo took off it.
export PATH := $(PATH):/usr/libexec/swift/bin:/opt/swift/usr/bin:$(HOME)/.local/share/swiftly/bin

SOURCES = Package.swift Packages/wakehandler/Package.swift Sources Tests Examples
RELEASE = Scripts/release.sh
# Tests of the whole use the programs that are installed.
FOR_SPEED = built="$$($(RELEASE) --show-bin-path)"; WAKEBRIDGED="$$built/wakebridged" WAKEBRIDGE_TOOL="$$built/wakebridge"

.PHONY: help deb demo check test test-gate gate prove prove-tests shake test-debian13 test-arm64 test-deb test-installed test-tutorials \
	check-debian13 check-sanitize fuzz bench bench-lab bench-fleet bench-imports test-page census break lab lab-soak lab-recording \
	build build-arm64 wakehandler wheel install uninstall clean prepare prepare-tests prepare-gate prepare-lab prepare-bench

help: ## tell what can be made
	@echo "WakeBridge. PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

demo: prepare ## play a recorded heart-rate strap to a frozen process, and show it live
	@Scripts/quietly.sh .build/demo.log "building the tool, which takes some minutes the first time" swift build --product wakebridge
	@Scripts/demo.sh

check: prepare ## format and rules of the text; it builds nothing
	swift format lint --strict --recursive --parallel $(SOURCES)
	@Scripts/rules.py

test: prepare-tests ## build everything and run every test that a change must pass
	@Scripts/test.py

test-gate: prepare-tests prepare-gate build ## the tests of the gate alone: ten scenarios of the lab, the page, short breaking, short kills
	@$(FOR_SPEED) Scripts/test.py gate

gate: ## all that a change must pass before it lands: check, test, test-gate and the package, each with its time
	@.ci/run

prove: ## prove before a release what takes hours; PARTS="soak hostile" proves some, PARTS=--list shows all, PARTS=--check names what is old
	@Scripts/prove.py $(PARTS)

prove-tests: prepare-tests build ## run the files of tests in FILES, whatever their tags; the parts of prove are made of these
	@$(FOR_SPEED) Scripts/test.py prove $(FILES)

# The tests' build is not shaken: on a quarter of a core it takes an hour. Some file has to run after it, so the shortest does.
# Two processes side by side use the quarter up, and more would only be slower. Other users can read what is preloaded in the checkout's place.
shake: prepare-tests ## most tests on a quarter of a core, with a slow disk and random stops; SHAKE_ROUNDS, SHAKE_SEED, ARGS= another command
	@Scripts/test.py prove WakeModelTests.ChannelTests
	@TEST_JOBS="$${TEST_JOBS:-2}" TEST_SILENCE="$${TEST_SILENCE:-3600}" Scripts/place.py checkout Scripts/shake.py $(ARGS)

test-debian13: ## build with Debian 13's own Swift in a Debian 13 root, for speed, and run the unit tests there
	@Scripts/debian13.sh

check-debian13: ## build the sources there, and run nothing
	@Scripts/debian13.sh build

test-arm64: ## build programs and tests for arm64 on amd64, compare a replay, and run the unit tests in an emulator
	@Scripts/arm64.sh tests

check-sanitize: prepare-tests ## the unit tests under sanitizers: of addresses and undefined behaviour, and of threads
	@Scripts/sanitize.sh

fuzz: prepare ## fuzz every reader of bytes from outside for a minute each; FUZZ_SECONDS, FUZZ_SEED, ARGS= names some of them
	@Scripts/fuzz.sh $(ARGS)

break: prepare-tests build ## break everything for ten minutes at 10,000 events/s; BREAK_SECONDS, BREAK_SEED
	@$(FOR_SPEED) BREAK_SECONDS="$${BREAK_SECONDS:-600}" BREAK_RATE="$${BREAK_RATE:-10000}" \
		Scripts/test.py --no-parallel --filter BreakTests

bench: prepare prepare-bench ## print what a wake costs on this machine; asserts nothing. ARGS=--json, --picture, or the names of some figures
	@Scripts/bench.sh $(ARGS)

bench-lab: prepare-tests prepare-lab ## the same for Bluetooth, beside bleak, in the virtual machine of the lab
	@Scripts/bench-lab.sh

bench-fleet: ## what an MQTT broker pays for thousands of bridges, with the sums for a million devices; needs mosquitto
	@python3 Tests/Scale/fleet.py $(ARGS)

bench-imports: build ## how fast, and in how much memory, a gigabyte of capture is imported, beside tshark
	@python3 Tests/Scale/imports.py "$$($(RELEASE) --show-bin-path)/wakebridge" $(ARGS)

census: prepare-tests ## count lines, names and what one event passes; ARGS=--list says where, ARGS="--root DIR" counts another checkout
	swift build --product wakebridged
	@python3 Scripts/census.py $(ARGS)

lab: prepare-tests prepare-lab ## play the scenarios with a real bluetoothd in a virtual machine; LAB_SCENARIOS="talk" plays some
	@Scripts/test.py --filter LabTests

lab-soak: prepare-tests prepare-lab ## half an hour of random faults there; LAB_SOAK says how many seconds
	@LAB_SOAK="$${LAB_SOAK:-1800}" LAB_LIMIT=$$(($${LAB_SOAK:-1800} * 2 + 600)) TEST_SILENCE=$$(($${LAB_SOAK:-1800} * 2 + 900)) LAB_SCENARIOS=soak \
		Scripts/test.py --filter LabTests

lab-recording: prepare-tests prepare-lab ## record the strap again there, and the receiver here
	@Tests/Lab/record.sh
	@Tests/Lab/record-receiver.sh

build: prepare ## daemon, tool and transferd for this machine, one file each
	$(RELEASE) --product wakebridged
	$(RELEASE) --product wakebridge
	$(RELEASE) --product wakebridge-transferd

build-arm64: ## both for arm64 on amd64, into .build/arm64/bin: for Debian 12, 13 and Raspberry Pi OS
	@Scripts/arm64.sh

wakehandler: ## lay out the Swift library of handler authors as a package of its own, below DESTINATION (.build/packages)
	@Scripts/wakehandler.sh "$(or $(DESTINATION),.build/packages)"

wheel: ## build the Python module of handler authors as a wheel, below DESTINATION (.build/packages), without a network
	@Scripts/wheel.py "$(or $(DESTINATION),.build/packages)"

install: build ## to PREFIX (/usr/local), below DESTDIR
	@Scripts/install.sh "$$($(RELEASE) --show-bin-path)" "$(DESTDIR)" "$(PREFIX)" "$(UNITDIR)"

uninstall: ## take away what install put there
	@Scripts/install.sh --remove "$(DESTDIR)" "$(PREFIX)" "$(UNITDIR)"

deb: prepare ## the Debian package, .build/deb/wakebridge_VERSION_ARCH.deb; ARCH=arm64 builds it for that
	@Scripts/deb.sh $(ARCH)

test-deb: prepare ## build the package, and install, try, remove and purge it in a fresh Debian 12 and 13; SUITES=trixie tries one
	@Scripts/test-deb.sh $(SUITES)

test-installed: prepare prepare-lab ## play the package's life on whole machines with systemd: setup, power cut, upgrade, full disk, removal
	@Scripts/test-installed.sh $(SUITES)

test-tutorials: prepare ## follow the tutorials to the letter in a fresh Debian 12 and 13, and print what the package costs there
	@Scripts/test-tutorials.sh $(ARGS)

test-page: ## try the page in a headless Chromium, against a stand-in for the daemon; ARGS=--pictures takes the pictures of the docs
	@Scripts/prepare-page.sh
	@.build/page/venv/bin/python Tests/Page/run.py $(ARGS)

clean: ## forget everything that was built
	rm -rf .build

prepare:
	@Scripts/prepare.sh

# Once these have run, the tests use no network and no apt.
prepare-tests:
	@Scripts/prepare.sh tests
	@Scripts/prepare-mqtt.sh
	@Scripts/prepare-metrics.sh
	@Scripts/prepare-gss.sh
	@Scripts/prepare-types.sh

prepare-gate: prepare-lab
	@Scripts/prepare-page.sh

prepare-lab:
	@Scripts/prepare-lab.sh

prepare-bench:
	@Scripts/prepare-bench.sh
