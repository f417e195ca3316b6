-- A message is tried for a day from its first attempt on.
alter table "notification" add column "first_sent_at" timestamptz(3);
