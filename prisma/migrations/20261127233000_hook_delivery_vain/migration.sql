-- Deliveries that have created no event and were not filtered: each hook keeps the last of them.
create index "hook_delivery_vain" on "hook_delivery" ("hook_id", "id") where "outcome" not in ('ACCEPTED', 'FILTERED');
