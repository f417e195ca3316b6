-- Deliveries that the filter did not want: each hook keeps the last of them.
create index "hook_delivery_filtered" on "hook_delivery" ("hook_id", "id") where "outcome" = 'FILTERED';
