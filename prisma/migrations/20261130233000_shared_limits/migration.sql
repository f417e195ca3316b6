-- Objects of other projects may ask for the limit, by the name of its project and its own.
alter table "flow_limit" add column "is_shared" boolean not null default false;
