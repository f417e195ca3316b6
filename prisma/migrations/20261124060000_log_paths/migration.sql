-- The log says where an object was: the names from the root down to its parent, divided by "/"; empty for a root. So changes are
-- found and shown by their paths even when the objects are gone. Changes of earlier releases have none.
alter table "log_content" add column "parent_paths" text[];
create or replace view "phase_change" as
  select p.batch_id, (c.n - 1)::integer as idx, c.object_id, p.root_id, c.parent_id, p.project_id,
    p.project_names[c.step] as project_name, p.kinds[c.step] as kind, c.name, p.machines[c.step] as machine,
    p."from"[c.step] as "from", p."to"[c.step] as "to", p.actors[c.step] as actor, p."by"[c.step] as "by",
    p.by_ids[c.step] as by_id, p.reasons[c.step] as reason, c.message, p.job_ids[c.step] as job_id, c.revision,
    p.rejected[c.step] as rejected, p."at"[c.step] as "at", c.parent_path
  from "log_content" p
  cross join lateral unnest(p.object_ids, p.parent_ids, p.names, p.revisions, p.messages, p.steps, p.parent_paths)
    with ordinality as c(object_id, parent_id, name, revision, message, step, parent_path, n);
create or replace view "object_phase_change" as
  select c.* from "log_object" o join "phase_change" c on c.batch_id = o.batch_id and c.object_id = o.object_id;
