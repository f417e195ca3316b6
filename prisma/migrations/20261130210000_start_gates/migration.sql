-- The gate before the start of a worker, a job or a gadget job, with its approvals and the decision; null: it has none.
alter table "workload" add column "gate" jsonb;
alter table "gadget_job" add column "gate" jsonb;
