# The main commands. Each first sets up the checkout, which is quick the second time.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One more than there are cores: a part of the tests waits for servers and browsers.
WORKERS ?= $(shell echo $$(($$(nproc) + 1)))

.PHONY: demo serve page docs test coverage test-slow test-rocm check audit format screenshots bench lock clean

demo: ## Judge a kernel on this machine
	@PYTHON=$(PYTHON) scripts/setup run
	@$(BIN)/warmfront run examples/leaky_relu.hip --problem leaky-relu

serve: ## Start the web page and the HTTP API on http://127.0.0.1:3000; with WARMFRONT_PROVIDER=dstack, on VMs
	@PYTHON=$(PYTHON) scripts/setup $$(scripts/provider-setup)
	@PYTHON=$(PYTHON) scripts/page build || echo "serve: the web page could not be built; continuing with the API alone" >&2
	@PYTHON=$(PYTHON) scripts/docs build || echo "serve: the documentation could not be built; continuing without it" >&2
	@exec $(BIN)/warmfront serve

page: ## Build the web page into the package
	@PYTHON=$(PYTHON) scripts/page build

docs: ## Build the documentation site into the package
	@PYTHON=$(PYTHON) scripts/setup $$(scripts/provider-setup)
	@PYTHON=$(PYTHON) scripts/docs build

test: ## All tests but the slow ones
	@PYTHON=$(PYTHON) scripts/setup dev
	@scripts/rocm-rootfs headers >/dev/null || echo "test: continuing without the real HIP headers" >&2
	@PYTHON=$(PYTHON) scripts/setup dstack
	@PYTHON=$(PYTHON) scripts/page build
	@PYTHON=$(PYTHON) scripts/docs build
	@PYTHON=$(PYTHON) scripts/page test
	@PYTHON=$(PYTHON) scripts/page issuer
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

coverage: ## Coverage of the quick tests; fails below the floor in pyproject.toml
	@PYTHON=$(PYTHON) scripts/setup dev
	@$(BIN)/pytest -n auto -m "not slow" --cov --cov-report=term tests/unit $(addprefix tests/integration/,api client store)

test-slow: ## The tests that take minutes
	@PYTHON=$(PYTHON) scripts/setup dev
	@for version in 6.4 7.2; do scripts/rocm-rootfs $$version >/dev/null || echo "test-slow: continuing without ROCm $$version" >&2; done
	@PYTHON=$(PYTHON) scripts/setup dstack
	@$(BIN)/pytest -m slow

test-rocm: ## Our headers, the X-ray and the messages against the real compilers of ROCm 6.4 and 7.2
	@PYTHON=$(PYTHON) scripts/setup dev
	@set -e; for version in 6.4 7.2; do scripts/rocm-rootfs $$version >/dev/null; done
	@$(BIN)/pytest -rP -m rocm tests/rocm

check: ## Formatting, lint, types, imports between layers, spelling, names and prose
	@PYTHON=$(PYTHON) scripts/setup dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/codespell
	@$(BIN)/codespell --builtin en-GB_to_en-US --regex '[A-Z]?[a-z]+|[A-Z]+' # American spelling inside identifiers
	@$(BIN)/python scripts/check_names.py
	@$(BIN)/python scripts/check_prose.py --docstrings
	@$(BIN)/python scripts/generate_types.py --check
	@$(BIN)/python scripts/generate_red_team.py --check
	@PYTHON=$(PYTHON) scripts/page check
	@PYTHON=$(PYTHON) scripts/docs build

audit: ## Look up known vulnerabilities in the npm packages that the page ships
	@PYTHON=$(PYTHON) scripts/page audit

format: ## Format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

screenshots: ## Save pictures of every view of the page to build/screenshots
	@PYTHON=$(PYTHON) scripts/setup dev
	@PYTHON=$(PYTHON) scripts/page build
	@PYTHON=$(PYTHON) scripts/docs build
	@$(BIN)/python -m tests.browser.screenshots build/screenshots

bench: ## Measure every figure that the documentation quotes
	@PYTHON=$(PYTHON) scripts/setup dev
	@PYTHON=$(PYTHON) scripts/setup dstack
	@PYTHON=$(PYTHON) scripts/page build
	@set -e; for script in verdict repeatability forgery gpu stub compile kernels mfma sandbox startup xray decisions replay keepwarm service standby modules streams page dstack fleet; do echo "== $$script"; $(BIN)/python -m bench.$$script; done

lock: ## Update every pinned dependency, with hashes
	@set -e; lock() { uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links "$$@"; }; \
	for name in run dev docs dstack-server node; do lock requirements/$$name.in --output-file requirements/$$name.txt; done; \
	lock requirements/service.in --constraint requirements/dev.txt --output-file requirements/service.txt; \
	lock requirements/listener.in --constraint requirements/dev.txt --output-file src/warmfront/listener/requirements.txt

clean: ## Remove what the commands above created in this checkout
	@rm -rf $(VENV) $(VENV)-dstack $(VENV)-node $(VENV)-docs frontend/node_modules tests/support/oidc/node_modules src/warmfront/api/site src/warmfront/api/docs_site build/docs .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
