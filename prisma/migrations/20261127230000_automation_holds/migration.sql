-- Projects, or the whole instance, in which nothing happens by itself.
create table "automation_hold" (
  "id" uuid primary key,
  -- Null: all projects.
  "project_id" uuid references "project"("id") on delete cascade on update cascade,
  "reason" text not null,
  "by" text not null,
  "at" timestamptz(3) not null
);
create unique index "automation_hold_once" on "automation_hold" (coalesce("project_id", '00000000-0000-0000-0000-000000000000'));
