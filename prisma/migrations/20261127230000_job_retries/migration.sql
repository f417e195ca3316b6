-- The retry policy of a job, and its attempts that have ended. Null without a policy.
alter table "workload" add column "retry" jsonb;
