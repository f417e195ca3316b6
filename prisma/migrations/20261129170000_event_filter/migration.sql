-- Lists of events of one source or type: a page is read from its end, in the order of creation, however many other events there are.
create index "event_source_object_id_idx" on "event" ("source", "object_id");
create index "event_type_object_id_idx" on "event" ("type", "object_id");
