-- Counts the changes of settings, so that an update can say which ones it has read (`expectedGeneration`).
alter table "project" add column "generation" integer not null default 1;
alter table "principal" add column "generation" integer not null default 1;
