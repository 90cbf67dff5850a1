/**
 * Whether a `Content-Type` announces JSON in UTF-8: `application/json` or a `+json` type, with no charset or with
 * `charset=utf-8`. Other parameters are ignored.
 *
 * @example isJsonMediaType('application/cloudevents+json; charset="UTF-8"') // true
 */
export function isJsonMediaType(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  if (!/^application\/(json|[a-z0-9!#$&^_.+-]+\+json)$/i.test(type.trim())) return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim().toLowerCase() !== 'charset') return true;
    return /^"?utf-?8"?$/i.test(value.trim());
  });
}
