-- When a root begins a job by itself: its policy, its editor, the next time and the retries so far. Null without a policy.
alter table "installation" add column "automatic_reconcile" jsonb;
