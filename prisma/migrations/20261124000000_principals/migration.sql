-- Who may call. A principal has an id, roles in projects, and any number of tokens. Rights refer to projects by id, and
-- whatever is held for a caller (fences, idempotency keys, sessions) refers to the principal: names are neither unique
-- nor permanent.
create table "principal" (
  "id" uuid not null,
  "name" text not null,
  "actor" "actor" not null,
  "administrator" boolean not null,
  -- Null: all. For agents only.
  "types" text[],
  "targets" text[],
  "created_at" timestamptz(3) not null,
  -- The row stays for as long as the log and the tokens name it.
  "deleted_at" timestamptz(3),
  constraint "principal_pkey" primary key ("id")
);
create table "principal_grant" (
  "principal_id" uuid not null,
  "ordinal" integer not null,
  "role" text not null,
  -- Null: in all projects.
  "project_id" uuid,
  constraint "principal_grant_pkey" primary key ("principal_id", "ordinal"),
  constraint "principal_grant_role_check" check ("role" in ('VIEWER', 'EDITOR', 'AUTHOR', 'ADMIN', 'AGENT')),
  constraint "principal_grant_principal_id_fkey" foreign key ("principal_id") references "principal" ("id") on delete cascade on update cascade,
  constraint "principal_grant_project_id_fkey" foreign key ("project_id") references "project" ("id") on delete cascade on update cascade
);
create index "principal_grant_project_id_idx" on "principal_grant" ("project_id");

-- Tokens that servers have made of their setting PHASELINE_TOKEN: the administrator's, and within a minute after it those
-- of the agents that a server starts. They belong to principals with fixed ids, so that a start with another
-- PHASELINE_TOKEN finds them.
create temporary table "configured_token" on commit drop as
  with "administrators" as (
    select "id", "created_at" from "token" t
    where "name" = 'admin' and "role" = 'ADMIN' and "projects" is null and "expires_at" is null and exists (
      select from "token" a where a."name" = 'built-in' and a."role" = 'AGENT' and a."types" = '{mock,gadget}'
        and a."created_at" between t."created_at" and t."created_at" + interval '1 minute'
    )
  ), "agents" as (
    select t."id", p."id" as "principal_id", (
      select a."id" from "administrators" a where a."created_at" <= t."created_at" order by a."created_at" desc limit 1
    ) as "derived_from"
    from "token" t join (values
      ('built-in', 'DEPLOYER', '{mock,gadget}'::text[], '00000000-0000-8000-8000-4dc4fb5172c0'::uuid),
      ('built-in-runner', 'GADGET_RUNNER', '{gadget-job}', '00000000-0000-8000-8000-5efbc3b1c5f6'),
      ('built-in-runtime', 'RUNTIME', '{process}', '00000000-0000-8000-8000-a7d6295f8b94')
    ) p ("name", "actor", "types", "id") on t."name" = p."name" and t."actor"::text = p."actor" and t."types" = p."types"
    where t."role" = 'AGENT' and t."projects" is null and t."expires_at" is null
  )
  select "id", '00000000-0000-8000-8000-000000000001'::uuid as "principal_id", null::uuid as "derived_from" from "administrators"
  union all
  select "id", "principal_id", "derived_from" from "agents" where "derived_from" is not null;

-- Each other token gets a principal of its own.
alter table "token" add column "principal_id" uuid;
update "token" t set "principal_id" = coalesce((select c."principal_id" from "configured_token" c where c."id" = t."id"), t."id");
insert into "principal" ("id", "name", "actor", "administrator", "types", "targets", "created_at")
  select distinct on ("principal_id") "principal_id", "name", "actor", "role" = 'ADMIN' and "projects" is null, "types", "targets", "created_at"
  from "token" order by "principal_id", "created_at";
insert into "principal_grant" ("principal_id", "ordinal", "role", "project_id")
  select "principal_id", row_number() over (partition by "principal_id" order by "name", "place") - 1, "granted", "project_id"
  from (
    select distinct t."principal_id", p."name", g."place", g."granted", p."id" as "project_id"
    from "token" t
    join (values
      ('ADMIN', 1, 'ADMIN'), ('ADMIN', 2, 'AUTHOR'), ('ADMIN', 3, 'EDITOR'),
      ('USER', 1, 'EDITOR'), ('USER', 2, 'AUTHOR'), ('READER', 1, 'VIEWER'), ('AGENT', 1, 'AGENT')
    ) g ("role", "place", "granted") on g."role" = t."role"
    left join "project" p on p."name" = any(t."projects")
    -- Names without a project grant nothing: a project that gets such a name later is another one.
    where (t."projects" is null and t."role" <> 'ADMIN') or p."id" is not null
  ) grants;

-- What was held under a name is held by the newest principal of that name.
create temporary table "newest_principal" on commit drop as
  select distinct on (t."name") t."name", t."principal_id" as "id" from "token" t order by t."name", t."created_at" desc, t."id" desc;

alter table "token"
  drop column "role", drop column "actor",
  -- With the columns that are computed from them.
  drop column "all_projects", drop column "all_types", drop column "all_targets",
  drop column "projects", drop column "types", drop column "targets",
  alter column "principal_id" set not null,
  -- The token of the administrator from which that of an agent is derived.
  add column "derived_from" uuid,
  add column "last_used_at" timestamptz(3),
  add column "revoked_at" timestamptz(3),
  add constraint "token_principal_id_fkey" foreign key ("principal_id") references "principal" ("id") on delete restrict on update cascade,
  add constraint "token_derived_from_fkey" foreign key ("derived_from") references "token" ("id") on delete restrict on update cascade;
update "token" t set "derived_from" = c."derived_from" from "configured_token" c where c."id" = t."id" and c."derived_from" is not null;
create index "token_principal_id_idx" on "token" ("principal_id");

alter table "work" add column "principal_id" uuid;
update "work" w set "principal_id" = p."id" from "newest_principal" p where p."name" = w."principal";
alter table "work" drop column "principal";

-- A session whose token is gone is nobody's, and ends with its lease.
alter table "crm_lease" add column "principal_id" uuid;
update "crm_lease" l set "principal_id" = coalesce(
  (select p."id" from "newest_principal" p where p."name" = l."principal"), '00000000-0000-0000-0000-000000000000'
);
alter table "crm_lease" drop column "principal", alter column "principal_id" set not null;
update "cloudlet" c set "sessions" = (
  select jsonb_agg(s."session" - 'principal' || jsonb_build_object('name', s."session" -> 'principal', 'principalId', coalesce(
    (select p."id" from "newest_principal" p where p."name" = s."session" ->> 'principal'), '00000000-0000-0000-0000-000000000000'
  )) order by s."place")
  from jsonb_array_elements(c."sessions") with ordinality s ("session", "place")
) where c."sessions" <> '[]';

alter table "idempotency_key" add column "principal_id" uuid;
update "idempotency_key" k set "principal_id" = p."id" from "newest_principal" p where p."name" = k."principal";
delete from "idempotency_key" where "principal_id" is null;
alter table "idempotency_key"
  drop constraint "idempotency_key_pkey",
  drop column "principal",
  alter column "principal_id" set not null,
  add constraint "idempotency_key_pkey" primary key ("principal_id", "project_id", "mutation", "key");

alter table "agent" add column "principal_id" uuid;
update "agent" a set "principal_id" = p."id" from "newest_principal" p where p."name" = a."name";
delete from "agent" where "principal_id" is null;
drop index "agent_name_instance_key";
alter table "agent" alter column "principal_id" set not null;
create unique index "agent_principal_id_instance_key" on "agent" ("principal_id", "instance");

-- The log says which project a change is of, and which principal has made it. A tree is of one project for ever.
drop view "object_phase_change";
drop view "phase_change";
alter table "log_content"
  add column "project_id" uuid,
  add column "by_ids" uuid[];
alter table "log_content" alter "by_ids" set storage main;
-- A tree that is gone was of the project that has its name now, if that is old enough. Otherwise only those who may read
-- all projects read these changes.
update "log_content" l set "project_id" = coalesce(
  (select o."project_id" from "object" o where o."id" = l."root_id"),
  (select p."id" from "project" p where p."name" = l."project_names"[1] and p."created_at" <= l."at"[1])
);
create view "phase_change" as
  select p.batch_id, (c.n - 1)::integer as idx, c.object_id, p.root_id, c.parent_id, p.project_id,
    p.project_names[c.step] as project_name, p.kinds[c.step] as kind, c.name, p.machines[c.step] as machine,
    p."from"[c.step] as "from", p."to"[c.step] as "to", p.actors[c.step] as actor, p."by"[c.step] as "by",
    p.by_ids[c.step] as by_id, p.reasons[c.step] as reason, c.message, p.job_ids[c.step] as job_id, c.revision,
    p.rejected[c.step] as rejected, p."at"[c.step] as "at"
  from "log_content" p
  cross join lateral unnest(p.object_ids, p.parent_ids, p.names, p.revisions, p.messages, p.steps)
    with ordinality as c(object_id, parent_id, name, revision, message, step, n);
create view "object_phase_change" as
  select c.* from "log_object" o join "phase_change" c on c.batch_id = o.batch_id and c.object_id = o.object_id;
