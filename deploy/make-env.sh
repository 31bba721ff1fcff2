#!/bin/sh
# Write .env and inbox.env for compose.yaml, with fresh secrets:
#     deploy/make-env.sh HOST
# What is there already is left alone, so nothing that was sealed with an old key is lost.
set -eu
if [ $# -ne 1 ] || [ -z "$1" ]; then
    echo "usage: deploy/make-env.sh HOST    (the name under which browsers reach the console)" >&2
    exit 2
fi
cd "$(dirname "$0")/.."
umask 077

random_hex() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }

if [ ! -e .env ]; then
    cat >.env.new <<EOF
POSTGRES_PASSWORD=$(random_hex 24)
OWNER_PASSWORD=$(random_hex 24)
RUNTIME_PASSWORD=$(random_hex 24)
EOF
    mv .env.new .env
    echo "written: .env"
fi
if [ ! -e inbox.env ]; then
    cat >inbox.env.new <<EOF
# Read by every process of the application. docs/configuration.md names all variables.
SECRET_KEY=$(random_hex 32)
ENCRYPTION_KEYS=1:$(head -c 32 /dev/urandom | base64 | tr -d '\n')
REPLY_TOKEN_KEY=$(random_hex 32)
PROVISIONING_TOKEN=$(random_hex 32)
PUBLIC_URL=https://$1
ALLOWED_HOSTS=$1
CSRF_TRUSTED_ORIGINS=https://$1
# The proxy before the application ends TLS and always sets X-Forwarded-Proto.
BEHIND_TLS_PROXY=true
# Believe the callers' addresses that it writes, too, once it drops header names with an underscore, as nginx does;
# until then all of them count as one caller. The network is that of the containers.
#PROXY_DROPS_UNDERSCORES=true
#TRUSTED_PROXIES=172.16.0.0/12
# Mail goes out through this server; or MAIL_TRANSPORT=ses, with AWS_REGION and credentials.
#MAIL_SMTP_HOST=
#MAIL_SMTP_PORT=587
#MAIL_SMTP_USER=
#MAIL_SMTP_PASSWORD=
# A language model answers instead of the documents alone, once one of these is set.
#OPENAI_API_KEY=
#ANTHROPIC_API_KEY=
EOF
    mv inbox.env.new inbox.env
    echo "written: inbox.env; fill in MAIL_SMTP_HOST and what else you need"
fi
