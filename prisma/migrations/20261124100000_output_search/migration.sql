-- The lines of all objects in the order in which they were written, so that the output of a tree or a project is read as one.
-- Lines from before this migration are numbered as they lie in the table, which is about that order.
create sequence "log_line_seq";
alter table "log_line" add column "seq" bigint not null default nextval('log_line_seq');
alter sequence "log_line_seq" owned by "log_line"."seq";
create index "log_line_seq_idx" on "log_line" ("seq");

-- What the lines of a stretch say, each part once, and of which trees and times they are: a search skips stretches. Written in
-- the background; what is not in it yet is searched line by line.
create table "log_line_text" (
  "first_seq" bigint not null,
  "last_seq" bigint not null,
  "lines" integer not null,
  "from_at" timestamptz(3) not null,
  "to_at" timestamptz(3) not null,
  -- Null: too many to be kept, so the stretch is searched for each.
  "roots" uuid[],
  "projects" uuid[],
  -- Null: too long to be kept.
  "text" text,
  -- When it was last compared with the lines that are left.
  "checked_at" timestamptz(3) not null,
  constraint "log_line_text_pkey" primary key ("first_seq")
);
-- Read as a whole again and again: to unpack it costs more than to read it.
alter table "log_line_text" alter "text" set storage external;
