/** The form of a launch. */
import type { KernelDeclaration, KernelParameter } from "./kernelParameters";
import { argumentFields, FILLS, TYPED, type ArgumentFields, type LaunchFields } from "./launchForm";

interface Props {
  kernels: readonly KernelDeclaration[];
  kernel: KernelDeclaration | undefined;
  fields: LaunchFields;
  errors: Readonly<Record<string, string>>;
  busy: boolean;
  cancelling: boolean;
  onChange: (fields: LaunchFields) => void;
  onLaunch: () => void;
  onCancel: () => void;
}

export function LaunchPanel(props: Props): React.JSX.Element {
  const { kernels, kernel, fields, errors, busy, onChange } = props;
  if (kernel === undefined) {
    return <p className="note">The source has no kernel that can be launched: a <code>__global__</code> function that is not a template.</p>;
  }
  return (
    <form
      className="stack launch-form"
      aria-label="Launch"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        props.onLaunch();
      }}
    >
      <div className="launch-sizes">
        <label className="case-field">
          <span>Kernel</span>
          <select value={kernel.name} onChange={(event) => onChange({ ...fields, kernel: event.target.value })}>
            {kernels.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <TextField label="Grid (blocks)" text={fields.grid} error={errors.grid} onChange={(grid) => onChange({ ...fields, grid })} />
        <TextField label="Block (threads)" text={fields.block} error={errors.block} onChange={(block) => onChange({ ...fields, block })} />
        <TextField label="Dynamic LDS (bytes)" text={fields.shared} error={errors.shared} onChange={(shared) => onChange({ ...fields, shared })} />
      </div>
      {kernel.parameters.map((parameter) => (
        <Argument
          key={parameter.name}
          parameter={parameter}
          fields={argumentFields(fields, parameter)}
          error={errors[parameter.name]}
          onChange={(changed) => onChange({ ...fields, arguments: { ...fields.arguments, [parameter.name]: changed } })}
        />
      ))}
      <div className="row">
        {busy ? (
          <button type="button" className="button danger" disabled={props.cancelling} onClick={props.onCancel}>
            {props.cancelling ? "Cancelling…" : "Cancel"}
          </button>
        ) : (
          <button className="button primary" title="Run the kernel in a sandbox (Ctrl+Enter)">
            Launch
          </button>
        )}
        <span className="dim small">Runs in a sandbox, with the bug finder. Limits are those of every check.</span>
      </div>
    </form>
  );
}

interface TextProps {
  label: string;
  text: string;
  error: string | undefined;
  onChange: (text: string) => void;
}

function TextField({ label, text, error, onChange }: TextProps): React.JSX.Element {
  return (
    <label className="case-field">
      <span>{label}</span>
      <input value={text} autoComplete="off" aria-invalid={error !== undefined} onChange={(event) => onChange(event.target.value)} />
      <FieldError error={error} />
    </label>
  );
}

function FieldError({ error }: { error: string | undefined }): React.JSX.Element | null {
  if (error === undefined) return null;
  return (
    <span className="field-error small" role="alert">
      {error}
    </span>
  );
}

interface ArgumentProps {
  parameter: KernelParameter;
  fields: ArgumentFields;
  error: string | undefined;
  onChange: (fields: ArgumentFields) => void;
}

function Argument({ parameter, fields, error, onChange }: ArgumentProps): React.JSX.Element {
  const { name, type, isPointer, isConst } = parameter;
  const fills = [...FILLS.filter((fill) => fill !== "uninitialized" || !isConst), TYPED];
  const title = `${isConst && isPointer ? "const " : ""}${type}${isPointer ? "*" : ""}`;
  return (
    <fieldset className="launch-argument">
      <legend>
        <code>{name}</code> <span className="dim small">{title}</span>
      </legend>
      <div className="row">
        {isPointer ? (
          <>
            <label className="row">
              <span className="small">Elements</span>
              <input
                className="short"
                value={fields.count}
                inputMode="numeric"
                autoComplete="off"
                onChange={(event) => onChange({ ...fields, count: event.target.value })}
              />
            </label>
            <label className="row">
              <span className="small">Contents</span>
              <select value={fields.fill} onChange={(event) => onChange({ ...fields, fill: event.target.value })}>
                {fills.map((fill) => (
                  <option key={fill}>{fill}</option>
                ))}
              </select>
            </label>
            {fields.fill === TYPED && (
              <input
                className="grow"
                aria-label={`Values of ${name}`}
                placeholder="1, 2, 3 (repeated)"
                value={fields.values}
                autoComplete="off"
                onChange={(event) => onChange({ ...fields, values: event.target.value })}
              />
            )}
          </>
        ) : (
          <input
            className="short"
            aria-label={`Value of ${name}`}
            value={fields.value}
            autoComplete="off"
            onChange={(event) => onChange({ ...fields, value: event.target.value })}
          />
        )}
      </div>
      <FieldError error={error} />
    </fieldset>
  );
}
