# Jobledger. 'make' alone prints every target. It needs Go, git and make; the rest is built from Go modules.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# --- Tools ------------------------------------------------------------------------------------------------------------
# Pinned by the modules under internal/tools and built on first use. A directory is named by what went into it (the
# module's files and the Go that builds them), so a changed pin is a new directory and an old one is never stale.

tools_of = bin/tools/$(shell (go version && cat $(1)/go.mod $(1)/go.sum) | git hash-object --stdin | cut -c1-12)
tools := $(call tools_of,internal/tools)

# Builds one tool of a module: the module, then the package.
define build_tool
	@echo "building $(@F), once" >&2
	@mkdir -p $(@D)
	@cd $(1) && go build -ldflags='-s -w' -o $(CURDIR)/$@ $(2)
endef

$(tools)/buf:
	$(call build_tool,internal/tools,github.com/bufbuild/buf/cmd/buf)
$(tools)/protoc-gen-go:
	$(call build_tool,internal/tools,google.golang.org/protobuf/cmd/protoc-gen-go)

# --- Generated code ---------------------------------------------------------------------------------------------------

buf := PATH=$(CURDIR)/$(tools):$$PATH buf

.PHONY: generate
generate: $(tools)/buf $(tools)/protoc-gen-go ## Write proto/gen from proto/**/*.proto
	$(buf) generate

.PHONY: check-generate
check-generate: $(tools)/buf $(tools)/protoc-gen-go ## Fail, with the difference, if proto/gen is not what 'make generate' writes
	@out=$$(mktemp -d) && trap 'rm -rf "$$out"' EXIT && \
	$(buf) generate -o "$$out" && diff -ruN proto/gen "$$out/proto/gen" || \
	{ echo "proto/gen is stale: run 'make generate'" >&2; exit 1; }

# --- Help -------------------------------------------------------------------------------------------------------------

.PHONY: help
help: ## Print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
