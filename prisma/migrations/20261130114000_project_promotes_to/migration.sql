-- The project that gets what has succeeded in this one.
alter table "project" add column "promotes_to" text;
