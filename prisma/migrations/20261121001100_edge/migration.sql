-- Cloudlets, and the instances that their CRMs keep.
create table "cloudlet" (
  "object_id" uuid not null,
  -- Of the CRM that serves it, and of the one that an upgrade is to bring.
  "version" text,
  "wanted_version" text,
  -- Given last; grows with every CRM process that connects.
  "epoch" integer not null default 0,
  -- Who is connected now, with what its fences are made of; and instances that a newer process has replaced.
  "sessions" jsonb not null default '[]',
  "replaced" jsonb not null default '[]',
  -- The phase of the machine cloudletUpgrade: READY when none runs.
  "upgrade_phase" "phase" not null default 'READY',
  "upgrade_since" timestamptz(3),
  "upgrade_due" timestamptz(3),
  -- Until when the first CRM is waited for.
  "connect_due" timestamptz(3),
  -- What the CRM has and the record does not, as of the last resync.
  "orphans" jsonb not null default '[]',
  "resynced_at" timestamptz(3),
  constraint "cloudlet_pkey" primary key ("object_id"),
  constraint "cloudlet_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
create table "edge_inst" (
  "object_id" uuid not null,
  -- Of the spec that is wanted, and the greatest that was ever given: a number never stands for two specs.
  "spec_revision" integer not null default 1,
  "last_revision" integer not null default 1,
  -- What an update that fails goes back to.
  "kept_spec" jsonb,
  "kept_revision" integer,
  -- As of the last resync it is not really as recorded.
  "drifted" boolean not null default false,
  -- The CRM is to take back what was withdrawn or has timed out.
  "undoing" boolean not null default false,
  constraint "edge_inst_pkey" primary key ("object_id"),
  constraint "edge_inst_object_id_fkey" foreign key ("object_id") references "object" ("id") on delete cascade on update cascade
);
-- Beside the sessions in `cloudlet`, since renewals come without the tree's lock.
create table "crm_lease" (
  "cloudlet_id" uuid not null,
  "epoch" integer not null,
  "fence_hash" bytea not null,
  "principal" text not null,
  "lease_until" timestamptz(3) not null,
  -- The subscription over which it hears of requests: when that ends, the session does.
  "stream" uuid,
  constraint "crm_lease_pkey" primary key ("cloudlet_id", "epoch"),
  constraint "crm_lease_cloudlet_id_fkey" foreign key ("cloudlet_id") references "object" ("id") on delete cascade on update cascade
);
