-- The lines of an object are numbered and counted in a row of its own. Whoever appends holds that row until the end of
-- its transaction: so the numbers are dense per object and grow in commit order, and nobody who follows them by number
-- can miss one.
lock table "log_line" in access exclusive mode;
alter table "log_line" alter column "n" drop identity;
delete from "log_line" l where not exists (select from "object" o where o."id" = l."object_id");

create table "log_tail" (
  "object_id" uuid not null,
  "next_n" bigint not null default 1,
  -- What is kept, with the line that tells of those that are not.
  "kept_lines" integer not null default 0,
  "kept_bytes" bigint not null default 0,
  -- How many lines are not kept any more.
  "dropped" bigint not null default 0,
  constraint "log_tail_pkey" primary key ("object_id")
) with (fillfactor = 70);
insert into "log_tail" ("object_id", "next_n", "kept_lines", "kept_bytes")
  select "object_id", max("n") + 1, count(*), sum(octet_length("text")) from "log_line" group by "object_id";

create or replace function object_side_rows_go() returns trigger
language plpgsql as $plpgsql$
begin
  delete from "object_spec" s using "gone" g where s."object_id" = g."id";
  delete from "deploy_item" d using "gone" g where d."object_id" = g."id";
  -- In the order in which those who append lock them; what they were about to commit is seen by the statements after.
  perform from "log_tail" t where t."object_id" in (select g."id" from "gone" g) order by t."object_id" for update;
  if found then
    delete from "log_line" l using "gone" g where l."object_id" = g."id";
    delete from "log_tail" t using "gone" g where t."object_id" = g."id";
  end if;
  return null;
end
$plpgsql$;
