-- Hooks that ask GitHub again for what it could not deliver: when they have, and why they could not.
alter table "hook" add column "checked_at" timestamptz(3);
alter table "hook" add column "check_problem" text;
