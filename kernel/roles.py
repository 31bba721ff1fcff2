"""The three database roles, and what each may do (decision X-32, requirement S3-61).

`inbox_owner` owns the schema and migrates it. `inbox_runtime` serves the application: rows only, no schema, no
truncation, bound by row-level security. `inbox_audit` owns nothing but the function that appends to the audit
chain, and is the only role that may write there.
"""

from typing import Final

OWNER: Final = "inbox_owner"
RUNTIME: Final = "inbox_runtime"
AUDIT: Final = "inbox_audit"

# Roles are of the cluster, not of the database, so they are made where missing and never dropped here. A
# hosting provider may make them by hand beforehand; then this changes nothing.
PREPARE_SQL: Final = """
DO $$
DECLARE
    role_name text;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['inbox_owner', 'inbox_runtime', 'inbox_audit'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', role_name);
        END IF;
    END LOOP;
END $$;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
GRANT USAGE ON SCHEMA public TO inbox_runtime, inbox_audit;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO inbox_runtime;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO inbox_runtime;
"""
