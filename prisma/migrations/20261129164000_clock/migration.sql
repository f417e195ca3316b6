-- When an object decides by itself, without any work of an agent. Work rows that no agent ever claims have had these times until now.
-- The version before still writes such rows: `setClock` takes their time over.
create table "clock" (
  "object_id" uuid not null primary key references "object" ("id") on delete cascade on update cascade,
  "root_id" uuid not null,
  "due_at" timestamptz(3) not null
);
create index "clock_root_id_due_at_idx" on "clock" ("root_id", "due_at");
create index "clock_due_at_idx" on "clock" ("due_at");

with "taken" as (
  update "work" w set "due_at" = null, "state" = case when w."fence_hash" is null then 2 else w."state" end,
    "done_at" = case when w."fence_hash" is null then now() else w."done_at" end
  from "work" b join "object" o on o."id" = b."object_id"
  where w."object_id" = b."object_id" and b."state" < 2 and b."due_at" is not null
    and o."kind" in ('SCHEDULE', 'INSTALLATION', 'CLOUDLET')
  returning w."object_id", w."root_id", b."due_at"
)
insert into "clock" ("object_id", "root_id", "due_at") select "object_id", "root_id", "due_at" from "taken";
