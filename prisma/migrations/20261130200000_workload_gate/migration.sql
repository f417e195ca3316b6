-- The gate of a worker or job, with its approvals and the decision; null: it has none.
alter table "workload" add column "gate" jsonb;
