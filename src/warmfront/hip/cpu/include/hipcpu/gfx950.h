// Included first if a submission is judged for gfx950 (MI355X): the macros of its compiler in place of those of gfx942.
#pragma once

#define HIPCPU_GFX950 1
#undef __gfx942__
#define __gfx950__ 1
#undef __amdgcn_processor__
#define __amdgcn_processor__ "gfx950"
#undef __amdgcn_target_id__
#define __amdgcn_target_id__ "gfx950"
