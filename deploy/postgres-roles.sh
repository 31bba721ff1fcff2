#!/bin/sh
# Run once by the postgres image on an empty data directory: the three roles of kernel/roles.py, and the extensions that
# only a superuser may create. Everything else is made by `manage.py migrate` as the owner.
set -eu
case "$OWNER_PASSWORD$RUNTIME_PASSWORD" in
    *[!A-Za-z0-9._~-]*)
        echo "OWNER_PASSWORD and RUNTIME_PASSWORD become part of addresses: use letters, digits and . _ ~ - only." >&2
        exit 1
        ;;
esac
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    -v owner_password="$OWNER_PASSWORD" -v runtime_password="$RUNTIME_PASSWORD" <<'SQL'
CREATE ROLE inbox_owner LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'owner_password';
CREATE ROLE inbox_runtime LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD :'runtime_password';
CREATE ROLE inbox_audit NOLOGIN NOSUPERUSER NOBYPASSRLS;
-- The owner hands the functions of the audit chain over to their writer.
GRANT inbox_audit TO inbox_owner WITH INHERIT TRUE, SET TRUE;
CREATE DATABASE inbox OWNER inbox_owner;
\connect inbox
CREATE EXTENSION vector;
CREATE EXTENSION pg_trgm;
REVOKE TEMPORARY ON DATABASE inbox FROM PUBLIC;
SQL
