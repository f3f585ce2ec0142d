// What a page shows when its data did not come.
export class ApiError extends Error {
  constructor(error, status) {
    super(error.message);
    this.key = error.key;
    this.hint = error.hint;
    this.status = status;
  }
}
