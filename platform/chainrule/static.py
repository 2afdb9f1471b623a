"""Static files under names that hold their hash, so that they may be kept for a year."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStatic(CompressedManifestStaticFilesStorage):
    # Modules import each other by their hashed names too, or a new page would meet old modules.
    support_js_module_import_aggregation = True
    max_post_process_passes = 40  # one for each module in the longest chain of imports, at most
