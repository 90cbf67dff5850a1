-- leasehold.tags_problem: why a JSON value is no list of tags, or null when it is one. Internal.
create or replace function leasehold.tags_problem(p_tags jsonb) returns text
language sql
immutable
return case
  when jsonb_typeof(p_tags) <> 'array' or jsonb_array_length(p_tags) > 20 then 'tags: give an array of at most 20 tags'
  when exists (
    select 1
    from jsonb_array_elements(p_tags) t (tag)
    where jsonb_typeof(t.tag) <> 'string'
      or char_length(t.tag #>> '{}') not between 1 and 100
      or t.tag #>> '{}' ~ '[[:cntrl:]]'
  ) then 'tags: each must be a text of 1 to 100 characters, no control characters'
end;
