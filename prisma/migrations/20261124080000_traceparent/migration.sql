-- The place in its trace of what has offered the work, or has asked for the decision: the header `traceparent` of W3C Trace
-- Context. Null: no sampled trace.
alter table "work" add column "traceparent" text;
alter table "wake" add column "traceparent" text;
-- Not valid: what is there already has none, so nothing need be read.
alter table "work" add constraint "work_traceparent_check" check (length("traceparent") <= 55) not valid;
alter table "wake" add constraint "wake_traceparent_check" check (length("traceparent") <= 55) not valid;
