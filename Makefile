# One line per target; the work is done in bin/. PORT=8080 and other variables given to make reach the commands as
# environment variables.

.PHONY: demo up setup test test-deep check bench prove

demo:
	bin/setup && bin/with-services .venv/bin/python manage.py demo $(if $(ONCE),--once)

up:
	bin/setup && bin/with-services .venv/bin/python manage.py up

setup:
	bin/setup --dev --browser

test:
	bin/setup --dev --browser && bin/test

test-deep:
	bin/setup --dev --browser && bin/test --deep

check:
	bin/setup --dev --browser && bin/check

bench:
	bin/setup --dev --browser && bin/with-services .venv/bin/python -m tests.bench $(if $(ROW),--row $(ROW))

prove:
	bin/setup --dev && bin/with-services .venv/bin/python -m tests.prove $(ARGS)
