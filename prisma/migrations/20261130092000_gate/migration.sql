-- What opens a gate and who has approved it, and who has written the spec of an installation.
alter table "deploy_item" add column "gate" jsonb;
alter table "installation" add column "editor_id" uuid;
