"""The console's pages of workspaces, people and credentials."""

from tenancy.admin import certificates as certificates
from tenancy.admin import credentials as credentials
from tenancy.admin import installation as installation
from tenancy.admin import people as people
from tenancy.admin import roles as roles
from tenancy.admin import teams as teams
from tenancy.admin import tokens as tokens
from tenancy.admin import workspaces as workspaces
