-- A role that reads metrics and nothing else.
alter table "principal_grant" drop constraint "principal_grant_role_check";
alter table "principal_grant" add constraint "principal_grant_role_check"
  check ("role" in ('VIEWER', 'EDITOR', 'AUTHOR', 'ADMIN', 'AGENT', 'MONITOR'));
