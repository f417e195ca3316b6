-- What the changes of a stretch of the log say, each text once, so that a search skips stretches without its words. Written
-- in the background; what is not in it yet is searched change by change.
create table "log_text" (
  "first_seq" bigint not null,
  "last_seq" bigint not null,
  -- Null: too long to be kept, so the stretch is always searched.
  "text" text,
  constraint "log_text_pkey" primary key ("first_seq")
);
-- Read as a whole again and again: to unpack it costs more than to read it.
alter table "log_text" alter "text" set storage external;
