-- A sentence for people, as the manifest has it.
alter table "installation" add column "description" text not null default '';
