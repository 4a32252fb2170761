# The commands of this repository. Each target does one thing; .ci/run does them all.

GO        ?= go
FUZZTIME  ?= 30s
BENCHTIME ?= 0.3s
DURATION  ?= 10m
SUBJECT   ?= reference
OUT       ?= out

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: ## Run every test
	$(GO) test ./...

.PHONY: race
race: ## Run every test under the race detector, with short budgets
	$(GO) test -race -short ./...

.PHONY: fuzz
fuzz: ## Give each fuzz target FUZZTIME (30s)
	.ci/fuzz $(FUZZTIME)

.PHONY: torture
torture: ## Torture SUBJECT (reference) for DURATION (10m), every model
	$(GO) run ./cmd/unplug torture $(SUBJECT) --model all --duration $(DURATION) --out $(OUT)

.PHONY: planted
planted: ## Check that the reference survives and each planted mistake is caught
	.ci/torture

.PHONY: lint
lint: ## Run the linter, in the version that counts (installed when missing)
	.ci/lint

.PHONY: bench
bench: ## Measure, in about two minutes, with the command's own GC setting; no test asserts a time
	GOGC=400 $(GO) test -run='^$$' -bench=. -benchmem -benchtime=$(BENCHTIME) ./...

.PHONY: cover
cover: ## Show how much of each package its tests reach
	$(GO) test -short -cover ./...

.PHONY: ci
ci: ## Everything that must hold before a change is merged
	.ci/run
