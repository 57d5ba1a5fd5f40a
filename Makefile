# Jobledger. 'make' alone prints every target. It needs Go, git and make; everything else is built from Go modules.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# --- Tools ------------------------------------------------------------------------------------------------------------
# Pinned by the modules under internal/dev/tools and built on first use, each only when a target needs it. Their directory is
# named by what goes into it (the module's two files, the Go that builds), so a changed pin is a new directory and no
# tool is ever stale. golangci-lint and promtool have modules of their own: each is tested with its own versions of what the
# others share.

pins = $(shell (go version && cat $(1)/go.mod $(1)/go.sum) | git hash-object --stdin | cut -c1-12)
tools_dir = bin/tools/$(or $(call pins,$(1)),$(error cannot tell the versions of $(1): are go and git installed?))
tools := $(call tools_dir,internal/dev/tools)
linter := $(call tools_dir,internal/dev/tools/golangci-lint)
prometheus := $(call tools_dir,internal/dev/tools/promtool)

# Builds one tool: of which module, which package.
define build_tool
	@echo "building $(@F) (once, up to some minutes)" >&2
	@cd $(1) && go build -ldflags='-s -w' -o $(CURDIR)/$@ $(2)
endef

$(tools)/buf:
	$(call build_tool,internal/dev/tools,github.com/bufbuild/buf/cmd/buf)
$(tools)/protoc-gen-go:
	$(call build_tool,internal/dev/tools,google.golang.org/protobuf/cmd/protoc-gen-go)
$(tools)/benchstat:
	$(call build_tool,internal/dev/tools,golang.org/x/perf/cmd/benchstat)
$(linter)/golangci-lint:
	$(call build_tool,internal/dev/tools/golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
# Without the clients of the clouds in which Prometheus looks for targets, which are most of it.
$(prometheus)/promtool: export GOFLAGS += -tags=remove_all_sd
$(prometheus)/promtool:
	$(call build_tool,internal/dev/tools/promtool,github.com/prometheus/prometheus/cmd/promtool)

buf := PATH="$(CURDIR)/$(tools):$$PATH" buf
golangci := $(CURDIR)/$(linter)/golangci-lint

# --- Build ------------------------------------------------------------------------------------------------------------

# Without cgo the program is static: it runs in an image that has nothing else, whatever the C library.
OUT ?= bin
.PHONY: build
build: ## Build bin/jobledger, and the links to it that kubectl looks for (OUT=bin)
	CGO_ENABLED=0 go build -o $(OUT)/jobledger ./cmd/jobledger
	@ln -sf jobledger $(OUT)/kubectl-jobledger
	@ln -sf jobledger $(OUT)/kubectl_complete-jobledger

# Compiling the clients of Kubernetes and NATS takes most of a first build, and no command that reads a log needs them.
.PHONY: reader
reader: ## Build bin/jobledger with only the commands that read a log: under a minute, the first time too (OUT=bin)
	CGO_ENABLED=0 go build -tags reader -ldflags='-s -w' -o $(OUT)/jobledger ./cmd/jobledger

# In a module of its own: who builds the program needs nothing of it.
NAME ?= jobledger
VERSION ?=
.PHONY: image
image: ## The container image into dist/, as an OCI archive, with SBOM and provenance (NAME=registry/jobledger VERSION=)
	cd internal/dev/image && go run . --source ../../.. --out ../../../dist --name '$(NAME)' --version '$(VERSION)'

.PHONY: sbom
sbom: ## What the program is made of, with licences, into dist/ (CycloneDX); 'make image' writes it, too (VERSION=)
	cd internal/dev/image && go run . --sbom --source ../../.. --out ../../../dist --version '$(VERSION)'

.PHONY: manifests
manifests: ## Write the manifests of deploy/ from the Helm chart deploy/chart
	cd internal/dev/manifests && go run . write ../../../deploy

.PHONY: generate
generate: $(tools)/buf $(tools)/protoc-gen-go ## Write proto/gen from proto/**/*.proto
	$(buf) generate

.PHONY: check-generate
check-generate: $(tools)/buf $(tools)/protoc-gen-go ## Fail, with the difference, if proto/gen is stale
	@out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && $(buf) generate -o "$$out" && \
	diff -ruN proto/gen "$$out/proto/gen" || { echo "proto/gen is stale: run 'make generate'" >&2; exit 1; }

.PHONY: fmt
fmt: $(linter)/golangci-lint $(tools)/buf ## Lay out Go and proto files as 'make lint' wants them
	$(golangci) fmt ./...
	cd test && $(golangci) fmt -c ../.golangci.yml ./...
	cd test/oracle && $(golangci) fmt -c ../../.golangci.yml ./...
	cd internal/dev/image && $(golangci) fmt -c ../../../.golangci.yml ./...
	cd internal/dev/manifests && $(golangci) fmt -c ../../../.golangci.yml ./...
	$(buf) format -w

.PHONY: tidy
tidy: ## Make every go.mod and go.sum hold what is used, no more
	@for m in . test test/oracle test/tools test/tools/containerd test/tools/coredns test/tools/kueue test/tools/jobset test/tools/helm test/tools/kustomize test/tools/versitygw $(wildcard test/tools/kubernetes-*) internal/dev/image internal/dev/manifests internal/dev/tools internal/dev/tools/golangci-lint internal/dev/tools/promtool; do \
		echo "go mod tidy: $$m" && (cd $$m && go mod tidy) || exit; done

.PHONY: clean
clean: ## Remove all that was built, also tools and control plane (minutes to build again)
	rm -rf bin test/bin dist

# --- Checks -----------------------------------------------------------------------------------------------------------

.PHONY: lint
lint: lint-go lint-proto lint-alerts contract ## Run the linters on all Go modules, schema and alerts, and make contract

.PHONY: lint-go
lint-go: $(linter)/golangci-lint
	$(golangci) run ./...
	cd test && $(golangci) run -c ../.golangci.yml ./...
	cd test/oracle && $(golangci) run -c ../../.golangci.yml ./...
	cd internal/dev/image && $(golangci) run -c ../../../.golangci.yml ./...
	cd internal/dev/manifests && $(golangci) run -c ../../../.golangci.yml ./...

# Each alert is provoked once, and silent where nothing is wrong.
.PHONY: lint-alerts
lint-alerts: $(prometheus)/promtool
	cd deploy/chart/monitoring && $(CURDIR)/$(prometheus)/promtool check rules --lint=all --lint-fatal alerts.yaml
	cd deploy/chart/monitoring && $(CURDIR)/$(prometheus)/promtool test rules alerts_test.yaml

.PHONY: contract
contract: ## Fail on a rule without a test, a citation of nothing, or a stale page of docs/conformance; UPDATE=1 writes them
	go run ./internal/dev/conformance $(if $(UPDATE),-write)

# From the release that froze the schema on ('buf build -o proto/frozen.binpb', committed), no change may break its readers. Before it
# there is nothing to break.
frozen = $(wildcard proto/frozen.binpb)

.PHONY: lint-proto
lint-proto: $(tools)/buf
	$(buf) lint
	$(buf) format --diff --exit-code
	$(if $(frozen),$(buf) breaking --against $(frozen))

# What the tests of a package need decides how they run. As many parallel tests of a package run at once as there are processors (go test's
# own number). CI shuffles the tests: SHUFFLE=on, or the number that it printed. vet is lint's: see .golangci.yml.
SHUFFLE ?=
gotest := go test -vet=off$(if $(SHUFFLE), -shuffle=$(SHUFFLE))

# Tests run without cgo, as the program does and as 'make build' builds it, which a test of the demo calls: so the program and all that it
# needs are compiled once. The race detector needs cgo, and with it a second time.
test-units test-cluster test-long: export CGO_ENABLED = 0

# Packages with goroutines of their own run under the race detector in CI, which needs a C compiler; without one they run plain. The others
# have one goroutine by design, and some of their tests count allocations; internal/dev/archtest finds one below events and store that starts
# another. The command runs plain, too, as its scripts start it 300 times, and what it is made of runs under the detector in the packages.
# The command alone is built under the detector, and TestARacedController plays one script with it, of a whole controller. make test runs
# only the core under the detector: a test takes three to ten times as long with it.
race := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
goroutines := /(events/(informer|kube|nats/.+)|reconciler/(loop|executor)|store/.+)$$
core := /(events/informer|reconciler/(loop|executor))$$
raced_packages = $(if $(WHOLE),$(goroutines),$(core))
concurrent = go list ./... | grep -E '$(raced_packages)'
plain = go list ./... | grep -vE '$(raced_packages)'
raced_program := $(if $(race),$(CURDIR)/bin/test/raced/jobledger)
# A process under the detector waits a second before it ends, for reports of other threads.
raced := $(if $(race),CGO_ENABLED=1 GORACE=atexit_sleep_ms=20)
# The NATS server of tests under the detector is a program of its own, which is built plain: its races are not ours.
natsd := $(CURDIR)/bin/test/natsd

# Tests that have one goroutine, or measure memory, and take long under the race detector run plain.
# So do those of a cluster of NATS servers, whose own time it is.
lonely := ^(TestScriptsWithRestarts|TestTheFence|TestWrongWaysAreFound|TestScriptsDivided|TestFloods|TestDueFloods|TestPodsThatCannotGoDoNotFillTheLog|TestAStartAfterAKillAtEachMoment|TestAKillBetweenParts|TestAKillLosesNoCountInSilence|TestRestartsDoNotChangeWhenARefusedCommandIsAskedAgain|TestAFileHoldsTenTimesItsStates|TestFlippedByte.*|TestBytesPerPayloadByte|TestTruncatedFileIsFound|TestADamagedIndex.*|TestPagesReadWhatBboltWrote|TestALogIsWrittenAgainFromItsStream|TestAReaderThatAsksForAllAtOnce.*|TestEveryByteOfAPackedFileCounts|TestAfterACrashLittleIsIndexed|TestOneBadFileHidesNoOther|TestAnOpenFinishesWhatWasPruned|TestDamagedSideFilesAreHarmless|TestTornCommit|TestBboltReadsWhatWeWrite|TestMissingFileIsFound|TestAJobThatIsNotThereCostsNoRead|TestALargeBatchIsPackedInParts|TestPackedFilesAreTheSameLog|TestReaderThatStaysCostsLittle|TestASecondWriterDoesNotKillAReplicatedStream|TestARecordThatSeveralServersKnewIsNotWaitedFor|TestAReplicatedStreamThatIsMadeTakesAtomicBatches|TestOneWrongRecordBeforeKillsAReplicatedStream|TestAStreamOfThreeServersLosesNothingWhenItsLeaderChanges)$$
# The packages of these tests; internal/dev/archtest finds one that is left out.
lonelies := ./reconciler/loop ./store/boltlog ./store/internal/streamindex ./store/natslog/fence ./events/nats/embedded ./events/nats/publish
# Of these, the ones in the core: make test runs the others plain, with all of their tests.
lonely_here = $(if $(WHOLE),$(lonelies),$(shell printf '%s\n' $(lonelies) | grep -E '$(core)'))

# Packages that wait more than they compute, for a clock or a disk, go first, and one package more runs at once than there are processors:
# so others compute meanwhile.
waiting = ./internal/run/controller ./internal/run/replicating ./internal/run/restore \
	$(if $(WHOLE),,./store/boltlog ./events/nats/subscribe ./store/natslog/fence ./events/nats/publish)
at_once = $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

# Integration tests run programs that the test cache knows nothing of, so what they said of another build is no answer. The longest go
# first, so that no processor waits for them at the end.
integration := $(gotest) -count=1 -timeout
# Packages of hours have no test that runs without JOBLEDGER_LONG: they would be compiled and linked for nothing. internal/dev/archtest
# finds a test that they have for make test; make lint compiles them.
hours := (beside|cronjobs|disk|minors|soak)
# Packages of journeys: installed, upgraded, handed over, copied, left. CI plays them (WHOLE=1); what they go through is tried in parts by
# the packages that do it. So do the tests of the image, a module of its own. See package internal/dev/effort for the three lengths of a run.
journeys := (bench|browser|cmd/biglog|cmd/demo|controlplane|copies|fuzz|ha|handover|observe|rewind|stream|uninstall|upgrade)
WHOLE ?=
longest := ./integration $(if $(WHOLE),./handover ./observe) ./crash $(if $(WHOLE),./uninstall ./stream)
left_out := /test/($(hours)$(if $(WHOLE),,|$(journeys)))$$

# What make test plays with the oracle is the same each time, so that no change fails for another's fault. At length it plays other
# scenarios each time, from a seed that is printed. SEED=n plays those again.
SEED ?=
oracle = @seed=$(or $(SEED),$(2)) && echo "cd test/oracle && JOBLEDGER_SEED=$$seed go test$(1)" && cd test/oracle && \
	JOBLEDGER_SEED=$$seed $(3)$(gotest) -count=1$(1) .

# Nobody debugs the programs of make test, and without what a debugger reads each of its 180 links takes two thirds of the time. The
# variable reaches the builds within tests, too, so that all of them link the program alike, and once.
test test-units test-cluster: export GOFLAGS := $(strip $(filter-out -ldflags=-w,$(GOFLAGS)) -ldflags=-w)

# A line of a test, a package or a program that failed, and the beginnings of what tests said. They stand together at the end of a run
# that failed, whose output is long.
failure := ^( *--- FAIL: |FAIL	|panic: |fatal error: | +[a-z_]+_test\.go:[0-9]+: |.*_test\.go:[0-9]+:[0-9]+: )

# Tests of the cluster wait for clocks, the others compute: side by side they take little longer than the longer of the two. Each prints what
# it has said when it is over (make before 4.0 cannot hold it back), and one that fails lets the other come to its end. The program is
# built first, so that not both compile it.
.PHONY: test
# Go's own setting, also for the API servers, to which package controlplane gives more room else. With 400 a link touched 24,000 pages more
# and an API server's start 28,000: on a machine whose page faults cost 25 µs the room is dearer than the collections that it saves.
test: export GOGC = 100
# The tests of the cluster copy the program that was built first; else each of their packages asks go build again.
test: export JOBLEDGER_BUILT = $(CURDIR)/bin/test
test test-units test-cluster: export JOBLEDGER_WHOLE = $(WHOLE)
test: ## What a change must not break: unit, race, integration (SHUFFLE=on: in another order; WHOLE=1: all rows and journeys, as CI)
	CGO_ENABLED=0 go build -o bin/test/jobledger ./cmd/jobledger
	@$(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=line) test-units test-cluster | tee bin/test/said.txt || \
	{ echo; echo "What failed, the first that was told first; all is in bin/test/said.txt:"; grep -E '$(failure)' bin/test/said.txt | cut -c1-200 | head -n 80; exit 1; } >&2

.PHONY: test-units
test-units: ## The part of make test that needs no cluster
	$(if $(WHOLE),cd internal/dev/image && $(gotest) ./...)
	cd internal/dev/manifests && $(gotest) ./...
	$(if $(race),CGO_ENABLED=1 go build $(race) -o $(raced_program) ./cmd/jobledger)
	JOBLEDGER_RACED=$(raced_program) $(gotest) -p $(at_once) -timeout 20m $(waiting) $$($(plain))
	$(gotest) -timeout 20m -run '$(lonely)' $(lonely_here)
	$(if $(WHOLE),$(if $(race),go build -o $(natsd) ./internal/dev/natsserver/natsd))
	$(raced) $(if $(WHOLE),$(if $(race),JOBLEDGER_NATSD=$(natsd))) $(gotest) -timeout 20m $(race) -skip '$(lonely)' $$($(concurrent))
	$(call oracle, -timeout 20m,1)

.PHONY: test-cluster
test-cluster: ## The part of make test that starts control planes
	cd test && $(integration) 60m $(longest) $$(go list ./... | grep -vE '$(left_out)')

# Chromium is Debian's package. axe-core judges what of the pages a program can judge.
.PHONY: test-browser
test-browser: export JOBLEDGER_BROWSER = 1
test-browser: ## The pages in a real browser: each flow, width and theme, by keyboard alone, judged by axe-core (chromium, npm)
	@mkdir -p bin/browser && cp test/browser/package*.json bin/browser
	npm ci --silent --no-fund --no-audit --prefix bin/browser
	cd test && CGO_ENABLED=0 $(gotest) -count=1 -timeout 20m ./browser

# A part of the long tests is each Nth test of each line; tests that divide themselves take JOBLEDGER_PART. See test/README.md for what parts take.
PART ?=
divided := ^(TestGeneratedSituations|TestTheVolumeIsLostUnderLoad|TestTwoForksCopyToOnePlace)$$
parted = $(if $(PART),$(CURDIR)/bin/test/testpart -part $(PART) -each '$(divided)' -- )
.PHONY: test-long
test-long: export JOBLEDGER_LONG = 1
test-long: ## The tests at length (JOBLEDGER_LONG=1): more seeds, crashes, bigger Jobs, the command under race; hours (PART=n/N: a part)
	$(if $(PART),go build -o bin/test/testpart ./internal/dev/testpart)
	$(parted)$(gotest) -timeout $(slice) ./...
	$(raced) $(parted)$(gotest) -timeout $(slice) $(race) -skip '^(TestTheCommandUnderPowerCuts|TestDamageTable)$$$$' ./cmd/...
	$(if $(filter-out 1/%,$(PART)),,go test -run '^$$' -fuzz '^FuzzValues$$' -fuzztime 10m ./cmd/jobledger)
	$(call oracle, -timeout $(slice),$$(date +%s%N),$(parted))
	cd test && $(parted)$(gotest) -count=1 -timeout $(slice) $(longest) ./...

# How long the tests of one package may take.
slice := $(if $(PART),90m,4h)

.PHONY: test-race
test-race: ## All unit tests under the race detector (needs a C compiler)
	go test -race -timeout 1h ./...

SEEDS ?= 10000
.PHONY: sim
sim: ## Simulate SEEDS=10000 seeds; one that fails prints how to repeat it
	JOBLEDGER_SEEDS=$(SEEDS) go test -count=1 -timeout 4h ./internal/dev/sim/...

.PHONY: oracle
oracle: export JOBLEDGER_SEEDS = $(SEEDS)
oracle: ## Play SEEDS=10000 scenarios with the Job controller of Kubernetes and with ours, and compare (SEED=n)
	$(call oracle, -timeout 4h,$$(date +%s%N))

# CONTENDER=builtin runs the specs with the built-in controllers alone; of the other contender the last run counts.
CONTENDER ?=
.PHONY: conformance
conformance: export JOBLEDGER_LONG = 1
conformance: ## Run Kubernetes' own specs of Jobs, CronJobs and TTLs under ours and the built-in, write docs/conformance-e2e.md
	cd test && go test -count=1 -timeout 4h -v -run '^(TestSpecs|TestKubectlPrintsTheSame)$$$(if $(CONTENDER),/^$(CONTENDER)$$)' ./conformance -update

# What is written down of logs, and renewed when formats or words change on purpose: read the difference before it is kept.
renewed = go test -count=1 -timeout 20m ./cmd/jobledger -v -run '$(1)' $(if $(UPDATE),-update) | grep -v '^=== '
.PHONY: golden
golden: ## Golden logs: what today's program says of logs that were kept; UPDATE=1 renews them, says what changed
	$(call renewed,^TestGoldenLogs$$)

.PHONY: damage
damage: ## The damage table in docs/format.md: what comes of each kind of damage; UPDATE=1 writes it
	$(call renewed,^TestDamageTable$$)

IN ?=
ONLY ?=
BY ?=
.PHONY: mutants
mutants: ## Small changes in the rules that no test notices (OF=answers: in answers, 500 drawn by SEED=1); an hour and more (IN=, ONLY=, BY=regexp, SAMPLE=500, LEAST=90)
	nice go run ./internal/dev/mutants -of $(or $(OF),rules) $(if $(IN),-in '$(IN)') $(if $(ONLY),-only '$(ONLY)') $(if $(BY),-by '$(BY)') $(if $(SAMPLE),-sample $(SAMPLE)) $(if $(SEED),-seed $(SEED)) $(if $(LEAST),-least $(LEAST))

QUICK ?=
ROUNDS ?=
WORKLOADS ?=
OBSERVER ?=
PROFILE ?=
NETWORK ?=
PLACE ?=
.PHONY: bench
bench: ## Ours and the built-in side by side; QUICK=1: 15 min (PROFILE=life|instant|cluster NETWORK=loopback|2ms|20ms PLACE=same|other SEED=1|date ROUNDS= WORKLOADS=w1,w3 OBSERVER=1)
	@mkdir -p bin
	cd test && go run ./cmd/bench \
		$(if $(OBSERVER),--observer --contenders builtin --json ../bin/bench-observer.json,--json ../bin/bench.json --baseline bench/baseline.json) \
		$(if $(PROFILE),--profile $(PROFILE)) $(if $(NETWORK),--network $(NETWORK)) $(if $(PLACE),--place $(PLACE)) $(if $(SEED),--seed $(SEED)) \
		$(if $(QUICK),--quick) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(WORKLOADS),--workloads $(WORKLOADS))

.PHONY: bench-quick
bench-quick: ## Most of 'make bench QUICK=1', in life and in instant; it fails on wrong outcomes and on counts that grew; no time is judged
	$(MAKE) bench QUICK=1 PROFILE=life WORKLOADS=w1,w2,w3,w3i,w4,w5,w7,w8,w9
	$(MAKE) bench QUICK=1 PROFILE=instant WORKLOADS=w1,w2,w3,w3i,w4,w5,w6,w7,w8,w9,w10,w11

# Each package whose benchmarks measure things beside each other takes rounds, the others time; see internal/dev/sidebyside.
BENCH ?= .
BASE ?=
COUNT ?= 1
beside := ./events/nats/publish ./internal/dev/sim/joblog ./internal/read/history ./projector ./reconciler/loop ./reconciler/replay ./store/boltlog ./store/livetail
alone := ./events/observation ./reconciler
micro_file = bin/bench-$(shell git describe --always --dirty)$(if $(QUICK),-quick).txt
micro = go test -p 1 -run '^$$' -bench '$(BENCH)' -count $(COUNT) -timeout 2h $(if $(QUICK),-short)
.PHONY: bench-micro
bench-micro: $(if $(BASE),$(tools)/benchstat) ## Benchmarks beside their floors, for benchstat; QUICK=1: few minutes (BENCH=. COUNT=1 BASE=FILE)
	@mkdir -p bin
	@{ $(micro) -benchtime $(if $(QUICK),3x,9x) $(beside) && \
	   $(micro) -benchtime $(if $(QUICK),0.1s,1s) -benchmem $(alone); } | tee $(micro_file)
	@echo && awk -f internal/dev/sidebyside/table.awk $(micro_file) | tee $(micro_file:.txt=-table.txt)
	@echo "for benchstat: $(micro_file)"
	$(if $(BASE),@$(tools)/benchstat $(BASE) $(micro_file))

.PHONY: incidents
incidents: ## Record examples/incidents anew, on a real control plane (20 min), and what is said of them
	cd test && go test -count=1 -timeout 60m -v -run '^TestRecord' ./incidents -update
	cd test && go test -count=1 -run '^(TestExplainSaysTheTruth|TestWhyNotSaysTheTruth)$$' ./incidents -update
	go test -count=1 -run '^TestIncidentDocuments$$' ./cmd/jobledger -update

# --- A cluster --------------------------------------------------------------------------------------------------------

.PHONY: cluster
cluster: ## Start a real control plane on loopback, print its KUBECONFIG, stop it on Ctrl-C
	cd test && go run ./cmd/cluster

.PHONY: demo
demo: build ## Three Jobs and a CronJob on a real control plane, their stream and history; KEEP=1 leaves it running
	cd test && KEEP=$(KEEP) go run ./cmd/demo

# --- Help -------------------------------------------------------------------------------------------------------------

.PHONY: help
help: ## Print this
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
