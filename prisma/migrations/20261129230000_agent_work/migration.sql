-- Work as families and the log read it. Postgres inlines the view: "is_open" is the condition of "work_root_idx", and "is_claimed" is
-- written so that no plan takes an index of states, which may be empty when the plan is made.
create view "agent_work" as
  select "object_id", "root_id", "type", "target", "target_labels", "action",
    "state", "state" + 0 < 2 as "is_open", "state"::integer = 1 as "is_claimed",
    "fence_hash", "job_id", "principal_id", "instance", "attempt", "handed", "handed_config",
    "triggered_at", "picked_up_at", "offer_after", "lease_until", "abort_requested_at", "abort_code", "progressing_ms"
  from "work";
