-- The retry policy of a gadget job, and its attempts that have ended. Null without a policy.
alter table "gadget_job" add column "retry" jsonb;
