# One line per target; the work is done in bin/. PORT=8080 and other variables given to make reach the commands as
# environment variables. `exec` and `--with-parent` make whatever ends make end the rest.

.PHONY: demo up setup test test-deep check bench prove-isolation

demo:
	bin/setup && exec bin/with-services --with-parent .venv/bin/python manage.py demo $(if $(ONCE),--once)

up:
	bin/setup && exec bin/with-services --with-parent .venv/bin/python manage.py up

setup:
	bin/setup --dev --browser

test:
	bin/setup --dev --browser && exec bin/test

test-deep:
	bin/setup --dev --browser && exec bin/test --deep

check:
	bin/setup --dev --browser && exec bin/check

bench:
	bin/setup --dev --browser && exec bin/with-services --with-parent .venv/bin/python -m tests.bench $(if $(ROW),--row $(ROW))

prove-isolation:
	bin/setup && exec bin/with-services --with-parent .venv/bin/python manage.py prove_isolation
