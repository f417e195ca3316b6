-- The retry policy of an item's job, and its attempts that have ended. Null without a policy.
alter table "deploy_item" add column "retry" jsonb;
