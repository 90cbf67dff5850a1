-- leasehold.name_problem: why a text is no queue or type name, or null when it is one. Internal.
create or replace function leasehold.name_problem(p_field text, p_name text) returns text
language sql
immutable
parallel safe
return case
  when p_name is null or char_length(p_name) not between 1 and 128 or p_name ~ '[[:cntrl:]]' or p_name ~ '^\s|\s$'
    or p_name in ('.', '..')
    then p_field
      || ': give 1 to 128 characters, no control characters, no white space at either end, not "." or ".."'
end;
