-- leasehold.refuse_change: the trigger of the event logs. Rows are added and never changed, by whoever it may be, the owner of
-- the tables included; retention drops whole partitions. Raises LH003.
create or replace function leasehold.refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception using
    errcode = 'LH003',
    message = format('%I.%I is append-only: %s refused', tg_table_schema, tg_table_name, lower(tg_op)),
    hint = 'History is never rewritten; drop whole partitions by retention instead.';
end
$$;
