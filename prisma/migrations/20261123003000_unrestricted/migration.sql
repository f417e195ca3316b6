-- Null lists mean "all", and empty ones "none". Prisma reads both as empty lists: these columns tell which is which.
alter table "token"
  add column "all_projects" boolean not null generated always as ("projects" is null) stored,
  add column "all_types" boolean not null generated always as ("types" is null) stored,
  add column "all_targets" boolean not null generated always as ("targets" is null) stored;
alter table "agent"
  add column "all_targets" boolean not null generated always as ("targets" is null) stored;
