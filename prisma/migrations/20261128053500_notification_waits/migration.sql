-- The time before which a message is not sent: the end of its window, or of quiet hours. Null: there is none.
alter table "notification" add column "not_before" timestamptz(3);
