-- The log is written in batches, so it is stored in batches: a row for each transaction and tree instead of one for each
-- change, which cost three entries of indexes and repeated ten columns that are the same for hundreds of changes.
alter table "phase_change" rename to "phase_change_row";

-- Arrays of one length: the first ones have an element for each change, in order; "steps" says which element of the
-- others is its. What many changes of a transaction have in common is there once, and "counts" says how many they are.
create table "log_content" (
  "batch_id" bigint not null,
  "root_id" uuid not null,
  "object_ids" uuid[] not null,
  "parent_ids" uuid[] not null,
  "names" text[] not null,
  "revisions" integer[] not null,
  "messages" text[] not null,
  "steps" integer[] not null,
  "counts" integer[] not null,
  "project_names" text[] not null,
  "kinds" "object_kind"[] not null,
  "machines" text[] not null,
  "from" "phase"[] not null,
  "to" "phase"[] not null,
  "actors" "actor"[] not null,
  "by" text[] not null,
  "reasons" text[] not null,
  "job_ids" uuid[] not null,
  "rejected" boolean[] not null,
  "at" timestamptz(3)[] not null,
  constraint "log_content_pkey" primary key ("batch_id")
);
create index "log_content_root_idx" on "log_content" ("root_id", "batch_id");
-- Looked into once for each change: that must not unpack them each time.
alter table "log_content"
  alter "counts" set storage main, alter "project_names" set storage main, alter "kinds" set storage main, alter "machines" set storage main,
  alter "from" set storage main, alter "to" set storage main, alter "actors" set storage main,
  alter "by" set storage main, alter "reasons" set storage main, alter "job_ids" set storage main,
  alter "rejected" set storage main, alter "at" set storage main;

-- Which batches have changes of an object.
create table "log_object" (
  "object_id" uuid not null,
  "batch_id" bigint not null,
  constraint "log_object_pkey" primary key ("object_id", "batch_id")
);

insert into "log_content"
  select batch_id, (array_agg(root_id))[1], array_agg(object_id order by idx), array_agg(parent_id order by idx),
    array_agg(name order by idx), array_agg(revision order by idx), array_agg(message order by idx),
    array_agg(step::integer order by idx),
    array_agg(count order by step) filter (where is_first),
    array_agg(project_name order by step) filter (where is_first),
    array_agg(kind order by step) filter (where is_first),
    array_agg(machine order by step) filter (where is_first),
    array_agg("from" order by step) filter (where is_first),
    array_agg("to" order by step) filter (where is_first),
    array_agg(actor order by step) filter (where is_first),
    array_agg("by" order by step) filter (where is_first),
    array_agg(reason order by step) filter (where is_first),
    array_agg(job_id order by step) filter (where is_first),
    array_agg(rejected order by step) filter (where is_first),
    array_agg(at order by step) filter (where is_first)
  from (
    select *, row_number() over (partition by batch_id, step order by idx) = 1 as is_first,
      (count(*) over (partition by batch_id, step))::integer as count
    from (
      select *, dense_rank() over (
        partition by batch_id order by project_name, kind, machine, "from", "to", actor, "by", reason, job_id, rejected, at
      ) as step from "phase_change_row"
    ) ranked
  ) stepped
  group by batch_id;
insert into "log_object" select distinct object_id, batch_id from "phase_change_row";
drop table "phase_change_row";

-- The log as everybody reads it: a row for each change.
create view "phase_change" as
  select p.batch_id, (c.n - 1)::integer as idx, c.object_id, p.root_id, c.parent_id, p.project_names[c.step] as project_name,
    p.kinds[c.step] as kind, c.name, p.machines[c.step] as machine, p."from"[c.step] as "from", p."to"[c.step] as "to",
    p.actors[c.step] as actor, p."by"[c.step] as "by", p.reasons[c.step] as reason, c.message,
    p.job_ids[c.step] as job_id, c.revision, p.rejected[c.step] as rejected, p."at"[c.step] as "at"
  from "log_content" p
  cross join lateral unnest(p.object_ids, p.parent_ids, p.names, p.revisions, p.messages, p.steps)
    with ordinality as c(object_id, parent_id, name, revision, message, step, n);

-- The same, for who asks by "object_id": only so is the way to an object's changes short.
create view "object_phase_change" as
  select c.* from "log_object" o join "phase_change" c on c.batch_id = o.batch_id and c.object_id = o.object_id;
