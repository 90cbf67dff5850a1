import { useEffect, useRef, useState } from 'hono/jsx/dom';

import { useBoard, useCell } from './hooks.ts';
import { describe } from './problem.ts';

export interface ActionField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly initial?: string;
  readonly required?: boolean;
  readonly lines?: number;
  readonly max?: number;
}

/** What a person is about to do, in words, before it is done. */
export interface AskedAction {
  readonly title: string;
  /** What will happen. */
  readonly effect: string;
  readonly confirm: string;
  readonly danger?: boolean;
  readonly fields?: readonly ActionField[];
  /** Does it; what it throws is shown, and the dialog stays. Returns what to say once it is done. */
  readonly run: (values: Readonly<Record<string, string>>) => Promise<string>;
}

/** The dialog of the action that is asked for; there is one at a time. */
export function ActionDialog() {
  const { asked } = useBoard();
  const action = useCell(asked);
  return action === undefined ? null : <OpenDialog key={action.title} action={action} />;
}

function OpenDialog({ action }: { readonly action: AskedAction }) {
  const { asked, notify } = useBoard();
  const dialog = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const close = (): void => asked.set(undefined);
  useEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close(); // while it is open nothing beside it takes the focus
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);

  const submit = (event: Event): void => {
    event.preventDefault();
    if (busy) return;
    const form = event.target as HTMLFormElement;
    const values: Record<string, string> = {};
    for (const { name, required } of action.fields ?? []) {
      const field = form.elements.namedItem(name) as HTMLInputElement;
      values[name] = field.value.trim();
      if (required === true && values[name] === '') {
        setProblem('Say why, or what it is about: the field is needed.');
        field.focus();
        return;
      }
    }
    setBusy(true);
    setProblem(undefined);
    action.run(values).then(
      (said) => {
        close();
        notify(said);
      },
      (error: unknown) => {
        const { what, remedy } = describe(error);
        setProblem(`${what} ${remedy}`);
        setBusy(false);
      },
    );
  };

  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="dialog-title"
      aria-describedby="dialog-effect"
      onCancel={(event: Event) => {
        event.preventDefault();
        close();
      }}
    >
      <form onSubmit={submit} noValidate>
        <h2 id="dialog-title">{action.title}</h2>
        <p id="dialog-effect">{action.effect}</p>
        {(action.fields ?? []).map((field, at) => (
          <Field key={field.name} field={field} first={at === 0} />
        ))}
        <p class="dialog-problem" role="alert">
          {problem ?? ''}
        </p>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={action.danger === true ? 'button danger' : 'button primary'}
            aria-disabled={busy ? 'true' : 'false'}
          >
            {busy ? 'One moment …' : action.confirm}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function Field({ field, first }: { readonly field: ActionField; readonly first: boolean }) {
  const id = `field-${field.name}`;
  const hintId = `${id}-hint`;
  const shared = {
    id,
    name: field.name,
    autofocus: first,
    maxlength: field.max ?? 1000,
    'aria-required': field.required === true ? 'true' : 'false',
    ...(field.hint === undefined ? {} : { 'aria-describedby': hintId }),
  };
  return (
    <div class="field">
      <label for={id}>
        {field.label}
        {field.required === true ? '' : <span class="quiet"> (optional)</span>}
      </label>
      {(field.lines ?? 1) > 1 ? (
        <textarea {...shared} rows={field.lines} value={field.initial ?? ''} />
      ) : (
        <input {...shared} type="text" autocomplete="off" value={field.initial ?? ''} />
      )}
      {field.hint === undefined ? null : (
        <p class="hint" id={hintId}>
          {field.hint}
        </p>
      )}
    </div>
  );
}
