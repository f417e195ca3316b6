-- Where deploy items go, with labels and, sealed, the credentials that deployers need there.
create table "target" (
  "id" uuid primary key,
  "project_id" uuid not null references "project" ("id") on delete cascade on update cascade,
  "name" text not null,
  "type" text not null,
  "labels" jsonb not null,
  "description" text not null,
  -- Null: there are none.
  "sealed" bytea,
  "generation" integer not null,
  "created_at" timestamptz(3) not null,
  "updated_at" timestamptz(3) not null
);
create unique index "target_project_id_name_key" on "target" ("project_id", "name");

-- Whether a target is in use, and by which items. The column is written once.
create index "deploy_item_target_idx" on "deploy_item" ("target") where "target" is not null;

-- The targets that an agent has claimed for by type and labels; null: by name only.
alter table "agent" add column "target_selector" jsonb;
